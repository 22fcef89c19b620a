// The type of what OpenCode loads. Kept by hand: OpenCode's own types are a package that a user need not install, and a test
// holds this one against them.

declare const plugin: {
  id: string
  server(input: object, options?: Record<string, unknown>): Promise<object>
  setup(context: unknown): Promise<(() => Promise<void>) | undefined>
}
export default plugin

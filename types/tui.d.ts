// The type of what OpenCode's terminal loads; see server.d.ts.

declare const plugin: {
  id: string
  tui(api: object, options?: Record<string, unknown>, meta?: object): Promise<void>
  setup(context: unknown): Promise<(() => void) | undefined>
}
export default plugin

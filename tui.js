// The terminal's half, for a configured folder; see server.js.
export { default } from "./dist/tui.js"

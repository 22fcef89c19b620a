// OpenCode 2 does not read package.json in a configured folder: it looks for this file. Installed packages use the exports.
export { default } from "./dist/plugin.js"

// Must be imported before uPlot, which passes the browser's language to Intl when it loads: Chromium under LANG=C reports
// "en-US@posix", and Intl throws on that.

try {
  new Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US" })
}

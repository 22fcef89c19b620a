// To be imported before uPlot, which hands the browser's language to Intl when it is loaded: Chromium under LANG=C calls
// it "en-US@posix", and Intl throws on that.

try {
  new Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US" })
}

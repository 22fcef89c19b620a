// The version of the wire between the plugin and its sidecar. Both ends send theirs first; when the two differ the
// plugin does not use that sidecar and says to run setup again. Raise it whenever a message changes its meaning.

export const PROTOCOL = 1

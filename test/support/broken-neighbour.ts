// A plugin that cannot be imported.

throw new Error("another plugin's fault")

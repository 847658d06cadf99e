"""Why numbers of the engine LiteRT are not those of Chromium: versions of LiteRT compute the model that the browser made."""

"""The pages that people open in a browser: static files, a folder a page.

A page has no build step and loads nothing from elsewhere. All figures that it shows come from the
endpoints under `/v1`, with the reader's own key where the server has keys.

- `static_pages`: Serves the files, with headers that keep a page from running anything else.
"""

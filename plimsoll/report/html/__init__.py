"""The HTML report: `render` makes the page, the other modules its sections; `page/` holds template, style, scripts."""

"""The HTML report: `render` builds the page, other modules build its sections; `page/` has the template and scripts."""

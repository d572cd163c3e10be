"""The HTML report: `render` builds the page, the other modules its sections; `page/` has the template and scripts."""

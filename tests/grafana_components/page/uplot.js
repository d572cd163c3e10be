// Stands in for uPlot, and keeps every plot that Grafana's components make, so that a report can say what is drawn.
import uPlot from 'uplot-itself';

export const plots = new Set();

export default Object.assign(function Recorded(options, data, then) {
  const plot = new uPlot(options, data, then);
  plots.add(plot);
  return plot;
}, uPlot);

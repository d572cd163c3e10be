// Where panels lie: Grafana's grid of 24 columns, rows open or closed.
const COLUMNS = 24;
const CELL = 30;
const GAP = 8;

/** The panels and rows of a dashboard in pixels. With `opened`, rows that are closed are shown as open. */
export function place(dashboard, width, opened) {
  const column = (width - GAP * (COLUMNS - 1)) / COLUMNS;
  const floor = Array(COLUMNS).fill(0);
  const placed = [];
  let row = null;
  const put = (panel) => {
    const { x, w, h } = panel.gridPos;
    const taken = floor.slice(x, x + w);
    const y = Math.max(...taken);
    floor.fill(y + h, x, x + w);
    placed.push({
      panel,
      row,
      left: x * (column + GAP),
      top: y * (CELL + GAP),
      width: w * column + (w - 1) * GAP,
      height: h * CELL + (h - 1) * GAP,
    });
  };
  const below = (a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x;
  for (const panel of [...dashboard.panels].sort(below)) {
    if (panel.type !== 'row') {
      put(panel);
      continue;
    }
    floor.fill(Math.max(...floor));
    const open = !panel.collapsed || opened;
    row = { title: panel.title, collapsed: Boolean(panel.collapsed) };
    put({ ...panel, open, gridPos: { ...panel.gridPos, x: 0, w: COLUMNS, h: 1 } });
    if (panel.collapsed && opened) [...panel.panels].sort(below).forEach(put);
  }
  return { placed, height: Math.max(...floor) * (CELL + GAP) };
}

// Texts that are cut at the edge of their box, and texts that lie over each other; hidden texts and charts do not count.
() => {
  const clipped = (one) => one && (getComputedStyle(one).clipPath !== "none" || clipped(one.parentElement));
  const shown = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".skip, dialog, svg, .u-over, .reading") && !clipped(one);
  const outside = (box, one) => {
    if (!one) return false;
    const frame = one.getBoundingClientRect();
    return (getComputedStyle(one).overflowY !== "visible" && (box.bottom > frame.bottom + 1 || box.top < frame.top - 1)) || outside(box, one.parentElement);
  };
  const found = new Set(), boxes = [];
  for (const one of document.querySelectorAll("body *")) {
    const style = getComputedStyle(one);
    if (style.overflowX === "hidden" && one.scrollWidth > one.clientWidth + 1 && one.innerText && shown(one) && !one.querySelector("canvas"))
      found.add(`cut: ${one.innerText.slice(0, 60)}`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!text.data.trim() || !shown(text.parentElement) || text.parentElement.closest("option, script, style")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) if (box.width > 2 && !outside(box, text.parentElement)) boxes.push([box, text.data.trim().slice(0, 40)]);
  }
  boxes.forEach(([a, first], at) => boxes.slice(at + 1).forEach(([b, second]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 3 && down > 6) found.add(`over each other: ${first} / ${second}`);
  }));
  return [...found];
}

// Makes an element like another one, changing only what differs: focus, selection, scroll and open folds stay.
// Children with the same data-key are the same thing, also if their order changed.
const KEPT = new Set(["open"]);

export function renew(old, now) {
  const focused = document.activeElement;
  copyAttributes(old, now);
  renewChildren(old, now);
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
}

function renewChildren(old, now) {
  const keyed = new Map([...old.children].filter((one) => one.dataset?.key).map((one) => [one.dataset.key, one]));
  let at = old.firstChild;
  for (const wanted of [...now.childNodes]) {
    const key = wanted.dataset?.key;
    const same = key ? keyed.get(key) : at?.dataset?.key ? undefined : at;
    if (!same || !isAlike(same, wanted)) {
      old.insertBefore(document.importNode(wanted, true), at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    if (same.nodeType !== Node.ELEMENT_NODE) {
      if (same.data !== wanted.data) same.data = wanted.data;
    } else if (!same.isEqualNode(wanted)) {
      copyAttributes(same, wanted);
      renewChildren(same, wanted);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function isAlike(one, other) {
  return one.nodeName === other.nodeName && one.id === other.id;
}

function copyAttributes(old, now) {
  for (const { name } of [...old.attributes]) if (!KEPT.has(name) && !now.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
}

// Grafana's expressions of the type math over series, joined on their labels, and on their times.
import { FieldType, toDataFrame } from '@grafana/data';

const TOKEN = /\s*(?:(\d+(?:\.\d+)?(?:e[-+]?\d+)?)|\$\{?(\w+)\}?|(\*\*|&&|\|\||[<>=!]=|[-+*/%()<>]))/giy;
const OPERATORS = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '**': (a, b) => a ** b,
  '>': (a, b) => Number(a > b),
  '<': (a, b) => Number(a < b),
  '>=': (a, b) => Number(a >= b),
  '<=': (a, b) => Number(a <= b),
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '&&': (a, b) => Number(Boolean(a) && Boolean(b)),
  '||': (a, b) => Number(Boolean(a) || Boolean(b)),
};
// The later a level, the closer it binds.
const LEVELS = [['||'], ['&&'], ['==', '!=', '<', '<=', '>', '>='], ['+', '-'], ['*', '/', '%'], ['**']];

/** The frames of a target of the type math, from those of the targets that it names. */
export function compute(target, framesOfRefs) {
  if (target.type !== 'math') throw new Error(`an expression of the type ${target.type} is not supported`);
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < target.expression.trimEnd().length) {
    const found = TOKEN.exec(target.expression);
    if (!found) throw new Error(`the expression ${target.expression} is not understood`);
    tokens.push(found);
  }
  const value = level(tokens, 0, framesOfRefs);
  if (tokens.length) throw new Error(`the expression ${target.expression} is not understood`);
  return list(value).map(({ labels, points }) => frame(target.refId, labels, points));
}

const list = (value) => (Array.isArray(value) ? value : []);

function level(tokens, depth, refs) {
  if (depth === LEVELS.length) return atom(tokens, refs);
  let left = level(tokens, depth + 1, refs);
  while (LEVELS[depth].includes(tokens[0]?.[3])) {
    const operate = OPERATORS[tokens.shift()[3]];
    left = combine(left, level(tokens, depth + 1, refs), operate);
  }
  return left;
}

function atom(tokens, refs) {
  const [, constant, name, sign] = tokens.shift() ?? [];
  if (constant !== undefined) return Number(constant);
  if (sign === '-') return combine(0, atom(tokens, refs), OPERATORS['-']);
  if (sign === '(') {
    const value = level(tokens, 0, refs);
    tokens.shift();
    return value;
  }
  if (!(name in refs)) throw new Error(`no query has the refId ${name}`);
  return refs[name].flatMap(series);
}

function series(one) {
  const [time] = one.fields.filter((field) => field.type === FieldType.time);
  return one.fields
    .filter((field) => field.type === FieldType.number)
    .map((field) => ({ labels: field.labels ?? {}, points: new Map(time.values.map((at, row) => [at, field.values[row]])) }));
}

function combine(left, right, operate) {
  if (typeof left === 'number' && typeof right === 'number') return operate(left, right);
  if (typeof right === 'number') return left.map((one) => mapped(one, (value) => operate(value, right)));
  if (typeof left === 'number') return right.map((one) => mapped(one, (value) => operate(left, value)));
  const single = left.length === 1 && right.length === 1;
  return left.flatMap((a) =>
    right
      .filter((b) => single || within(a.labels, b.labels) || within(b.labels, a.labels))
      .map((b) => ({
        labels: { ...a.labels, ...b.labels },
        points: new Map([...a.points].filter(([at]) => b.points.has(at)).map(([at, value]) => [at, either(value, b.points.get(at), operate)])),
      })),
  );
}

const mapped = ({ labels, points }, change) => ({ labels, points: new Map([...points].map(([at, value]) => [at, value === null ? null : change(value)])) });
const either = (a, b, operate) => (a === null || b === null ? null : operate(a, b));
const within = (some, all) => Object.entries(some).every(([tag, value]) => all[tag] === value);

function frame(refId, labels, points) {
  return toDataFrame({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, config: {}, values: [...points.keys()] },
      { name: refId, type: FieldType.number, labels, config: {}, values: [...points.values()] },
    ],
  });
}

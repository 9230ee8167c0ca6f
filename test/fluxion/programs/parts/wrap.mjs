export function wrap(text) {
  return `[${text}]`;
}

const HEAD = '<meta charset="utf-8"><link rel="stylesheet" href="/style.css">';

export function page(html) {
  return `<!doctype html>\n<html><head>${HEAD}</head><body>\n${html}</body></html>\n`;
}

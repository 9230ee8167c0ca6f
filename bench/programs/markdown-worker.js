import hljs from "highlight.js";
import MarkdownIt from "markdown-it";

const markdown = new MarkdownIt({
  linkify: true,
  typographer: true,
  highlight(code, language) {
    return hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : "";
  },
});

export default function render(text) {
  return markdown.render(text);
}

import MarkdownIt from "markdown-it";
import sanitizeHtml from "sanitize-html";

const md = new MarkdownIt({ html: true, linkify: true, typographer: true });

const ALLOWED = {
  allowedTags: sanitizeHtml.defaults.allowedTags.concat(["img", "h1", "h2"]),
  allowedAttributes: { a: ["href", "title"], img: ["src", "alt"] },
};

export class PagesService {
  #pages = ["Home", "About"];

  render(text) {
    return sanitizeHtml(md.render(text), ALLOWED);
  }

  list() {
    return this.#pages.length;
  }
}

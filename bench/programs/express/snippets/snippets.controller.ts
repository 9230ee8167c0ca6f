import type { Request, Response } from "express";
import hljs from "highlight.js";
import { route } from "./routing.js";

export class SnippetsController {
  @route("post", "/snippets")
  async render(req: Request, res: Response): Promise<void> {
    const { code, language } = req.body as { code: string; language: string };
    const { value } = hljs.highlight(code, { language });
    res.type("html").send(`<pre><code>${value}</code></pre>`);
  }
}

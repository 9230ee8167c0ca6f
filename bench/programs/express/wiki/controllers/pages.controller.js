export class PagesController {
  constructor(service) {
    this.service = service;
  }

  preview = async (req, res, next) => {
    try {
      const html = this.service.render(String(req.body.text ?? ""));
      res.json({ html });
    } catch (error) {
      next(error);
    }
  };

  list = (req, res) => {
    res.json({ pages: this.service.list() });
  };
}

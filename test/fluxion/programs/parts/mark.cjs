const MARK = "!";
module.exports = { mark: (n) => MARK.repeat(n) };

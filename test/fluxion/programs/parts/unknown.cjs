const made = {};
exports.make = (text) => text.toLowerCase().replaceAll(" ", "-");
exports.made = made;

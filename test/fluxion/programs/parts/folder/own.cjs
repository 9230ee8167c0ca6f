exports.kept = [];

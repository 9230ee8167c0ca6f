import { defineConfig } from "vite";

/** The page is built into the package, beside the server that sends it. Nothing is loaded from elsewhere. */
export default defineConfig({
  base: "./",
  build: {
    outDir: "../dist/page",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});

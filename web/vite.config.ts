import { defineConfig } from "vite";

// The gateway serves index.html at / and everything else below /console/.
const gateway = process.env.PLIMSOLL_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  base: "/console/",
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(
      ["/v1", "/ready", "/indexes", "/documents", "/jobs", "/chat", "/evaluation", "/admin"].map((path) => [path, gateway]),
    ),
  },
});

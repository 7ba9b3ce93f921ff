import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { firstNeeds } from "./first-needs.ts";

const target = process.env["TANDEM_URL"] ?? "http://127.0.0.1:4760";

export default defineConfig({
  plugins: [react(), tailwindcss(), firstNeeds()],
  build: {
    ...{ target: "es2024", modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 700 },
    // Each place of the page is three files: its own, what places share, and what is always there. Left alone, every icon
    // that two places have is a file, and a session is more than forty requests.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "index", tags: ["$initial"], priority: 1 },
            { name: "shared", minShareCount: 2 },
          ],
        },
      },
    },
  },
  // `tandem up` serves the API; the page's own server is for working on the page alone.
  server: { proxy: { "/v1": { target, changeOrigin: true, headers: { origin: target } } } },
});

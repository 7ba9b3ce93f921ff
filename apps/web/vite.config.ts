import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { firstNeeds } from "./first-needs.ts";

const target = process.env["TANDEM_URL"] ?? "http://127.0.0.1:4760";

export default defineConfig({
  plugins: [react(), tailwindcss(), firstNeeds()],
  build: {
    target: "es2024",
    license: { fileName: "third-party-notices.md" },
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    // Each route loads three chunks: its own, the shared one and the entry. By default every icon that two routes share
    // becomes a chunk, and opening a session takes more than forty requests.
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
  // For development of the page only: `tandem up` serves the API.
  server: { proxy: { "/v1": { target } } },
});

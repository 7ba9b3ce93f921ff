import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./shell/style-nonce.ts";
import "./settings/theme.ts";
import { App } from "./app.tsx";
import { readEarly } from "./live/first-page.ts";
import "./styles.css";

readEarly(location.pathname);
const root = document.getElementById("root");
if (!root) throw new Error("The page has no root.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

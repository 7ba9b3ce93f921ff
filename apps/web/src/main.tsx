import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./shell/style-nonce.ts";
import "./settings/theme.ts";
import { App } from "./app.tsx";
import { readEarly } from "./live/first-page.ts";
import { watchKeys } from "./live/keys-first.ts";
import { router } from "./router.tsx";
import "./styles.css";

readEarly(location.pathname);
watchKeys();
const root = document.getElementById("root");
if (!root) throw new Error("The page has no root.");
const draw = (): void =>
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
// The place that one comes to is drawn together with its frame, once, instead of the frame first and then both. What cannot
// be loaded is for the router to tell.
void router.load().then(draw, draw);

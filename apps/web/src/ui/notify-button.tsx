import { Bell, BellOff, BellRing } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";

/** Requests the notification permission. Browsers require a click for it. */
export function NotifyButton() {
  const [permission, setPermission] = useState(() =>
    "Notification" in globalThis ? Notification.permission : "unsupported",
  );
  if (permission === "unsupported") return null;
  if (permission === "granted")
    return (
      <span className="flex items-center gap-1.5 text-xs text-ink-faint" title="While this page is in the background">
        <BellRing aria-hidden className="size-3.5" /> Notifications are on
      </span>
    );
  if (permission === "denied")
    return (
      <span
        className="flex items-center gap-1.5 text-xs text-ink-faint"
        title="Change this in the browser's settings for this site"
      >
        <BellOff aria-hidden className="size-3.5" /> Notifications are blocked
      </span>
    );
  return (
    <Button size="small" look="quiet" onClick={() => void Notification.requestPermission().then(setPermission)}>
      <Bell aria-hidden className="size-3.5" /> Notify me
    </Button>
  );
}

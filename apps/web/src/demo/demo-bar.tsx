import { FlaskConical } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useLive } from "../live/live-value.ts";
import { useOwnTenant } from "../live/own-tenant.ts";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { Button } from "../ui/button.tsx";
import { startTour, tour } from "./tour-state.ts";

const TourStrip = lazy(() => import("./tour-strip.tsx"));
const LoginDialog = lazy(() => import("./login-dialog.tsx"));

/** On every page of the demo: the badge, the tour, and the way to the user's own login. */
export function DemoBar() {
  return useOwnTenant().demo ? <Bar /> : null;
}

function Bar() {
  const { isOpen } = useLive(tour);
  const [isLogin, setLogin] = useState(false);
  useShortcuts("Demo", {
    "g t": ["Start the tour", startTour],
    "g l": ["Use my Claude login", () => setLogin(true)],
  });
  return (
    <section
      aria-label="Demo"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-accent-soft px-4 py-1.5 text-sm"
    >
      <DemoBadge />
      <Suspense fallback={<span className="min-w-0 flex-1" />}>
        {isOpen ? (
          <TourStrip onLogin={() => setLogin(true)} />
        ) : (
          <>
            <p className="min-w-0 flex-1 text-ink-soft">Scripted replies, real tools. Nothing is billed.</p>
            <Button look="quiet" size="small" onClick={startTour}>
              Start tour
            </Button>
          </>
        )}
      </Suspense>
      {/* A phone has no room for it beside the tour, which offers it at its end. */}
      <Button size="small" className={isOpen ? "max-md:hidden" : ""} onClick={() => setLogin(true)}>
        Use my Claude login
      </Button>
      {isLogin && (
        <Suspense fallback={null}>
          <LoginDialog onClose={() => setLogin(false)} />
        </Suspense>
      )}
    </section>
  );
}

function DemoBadge() {
  return (
    <span className="inline-flex items-center gap-1 rounded-full bg-accent px-2 py-0.5 text-xs font-semibold text-on-accent">
      <FlaskConical aria-hidden className="size-3" />
      Demo
    </span>
  );
}

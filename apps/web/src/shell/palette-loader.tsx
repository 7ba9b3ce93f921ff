import { lazy, Suspense } from "react";

const Loaded = lazy(() => import("./palette.tsx"));

/** What finds everything is loaded when somebody looks for something. */
export function Palette(props: { isOpen: boolean; onOpenChange: (isOpen: boolean) => void }) {
  return props.isOpen ? (
    <Suspense fallback={null}>
      <Loaded {...props} />
    </Suspense>
  ) : null;
}

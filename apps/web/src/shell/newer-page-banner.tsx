import { Sparkles } from "lucide-react";
import { useLive } from "../live/live-value.ts";
import { isPageOutdated } from "../live/newer-page.ts";
import { Button } from "../ui/button.tsx";

/** Offers to reload after a server upgrade. The open page keeps working. */
export function NewerPageBanner() {
  if (!useLive(isPageOutdated)) return null;
  return (
    <div className="flex items-center gap-2 bg-accent-soft px-4 py-1 text-sm">
      <Sparkles aria-hidden className="size-4 shrink-0 text-accent" />
      <output className="min-w-0 flex-1">The server has a new version of this page. Your drafts are kept.</output>
      <Button size="small" onClick={() => location.reload()}>
        Reload
      </Button>
    </div>
  );
}

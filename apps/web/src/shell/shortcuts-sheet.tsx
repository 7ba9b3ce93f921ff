import { Fragment } from "react";
import { useLive } from "../live/live-value.ts";
import { Dialog } from "../ui/dialog.tsx";
import { deeds, groups, shownKey } from "./shortcuts.ts";
import { isSheetOpen } from "./shortcuts-sheet-open.ts";

/** Every key that works where one is. */
export default function ShortcutsSheet() {
  const all = useLive(groups).filter(({ keys }) => Object.keys(keys).length > 0);
  return (
    <Dialog
      isOpen
      onOpenChange={(isOpen) => isSheetOpen.set(isOpen)}
      title="Keys"
      description="Those that work on this page. While you write, only those with Ctrl or ⌘ do."
      size="wide"
    >
      <div className="gap-8 sm:columns-2">
        {all.toReversed().map(({ title, keys }, index) => (
          <section key={`${title}-${index}`} className="mb-5 break-inside-avoid">
            <h3 className="mb-1 text-xs font-medium text-ink-faint">{title}</h3>
            <dl>
              {deeds(keys).map(({ label, keys: all }) => (
                <div key={label} className="flex items-baseline gap-3 border-b border-line py-1 last:border-0">
                  <dt className="min-w-0 flex-1">{label}</dt>
                  <dd className="flex items-baseline gap-1 text-xs text-ink-faint">
                    {all.map((key, at) => (
                      <Fragment key={key}>
                        {at > 0 && "or"}
                        <Keys keys={key} />
                      </Fragment>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

const Keys = ({ keys }: { keys: string }) =>
  shownKey(keys)
    .split(" ")
    .map((part, at) => (
      <kbd key={at} className="rounded border border-line-strong bg-raised px-1.5 font-mono text-xs text-ink">
        {part}
      </kbd>
    ));

import { useMutation } from "@tanstack/react-query";
import { LogOut } from "lucide-react";
import { signOut } from "../state/sign-in.ts";
import { useLive } from "../live/live-value.ts";
import { isShortcutsSheetOpen } from "../state/open-dialogs.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { Mono, PageHead, Panel, Row, Rows } from "./panel.tsx";
import { setTheme, theme, THEMES } from "../state/theme.ts";

const WORDS = { system: "System", light: "Light", dark: "Dark" } as const;

/** Settings stored in this browser. */
export default function AppearancePage() {
  const current = useLive(theme);
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => location.assign("/"),
  });
  return (
    <>
      <PageHead title="Appearance">These settings are stored in this browser only.</PageHead>
      <Panel>
        <Rows>
          <li className="px-3 py-2">
            <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1">
              <legend className="float-left mr-auto font-medium">Theme</legend>
              {THEMES.map((name) => (
                <label key={name} className="flex min-h-10 items-center gap-1.5 md:min-h-7">
                  <input
                    type="radio"
                    name="theme"
                    className="size-4 accent-accent"
                    checked={current === name}
                    onChange={() => setTheme(name)}
                  />
                  {WORDS[name]}
                </label>
              ))}
            </fieldset>
          </li>
          <Row>
            <div className="min-w-40 flex-1">
              <p className="font-medium">Keyboard shortcuts</p>
              <p className="text-sm text-ink-faint">Click a shortcut to change its key.</p>
            </div>
            <Button keys="?" onClick={() => isShortcutsSheetOpen.set(true)}>
              Show all
            </Button>
          </Row>
          <Row>
            <div className="min-w-40 flex-1">
              <p className="font-medium">Sign out</p>
              <p className="text-sm text-ink-faint">
                <Mono>tandem open</Mono> on the server’s machine signs you in again.
              </p>
            </div>
            <Button
              icon={<LogOut aria-hidden className="size-4" />}
              disabled={leave.isPending}
              onClick={() => leave.mutate()}
            >
              Sign out
            </Button>
          </Row>
        </Rows>
      </Panel>
      <Problem error={leave.error} />
    </>
  );
}

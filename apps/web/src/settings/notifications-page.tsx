import type { NotificationTarget } from "@tandem/protocol";
import { Link } from "@tanstack/react-router";
import { BellRing, Monitor, Webhook } from "lucide-react";
import { useServerQuery } from "../api/use-server-query.ts";
import { api } from "../api/client.ts";
import { NotifyButton } from "../ui/notify-button.tsx";
import { ago, formatDateTime } from "../text/format.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { Badge, Mono, PageHead, Panel, Row, Rows } from "./panel.tsx";
import { useChange } from "../api/use-change.ts";

const KEY = ["/v1/notifications"];
const EVENTS = { approval: "approvals and questions", completed: "finished turns", failed: "failures" } as const;
const listed = new Intl.ListFormat("en");

/** Notification targets, and whether they work. */
export default function NotificationsPage() {
  const list = useServerQuery("notifications.list", {});
  const test = useChange(KEY, () => api.call("notifications.test"));
  const targets = list.data?.data;
  return (
    <>
      <PageHead
        title="Notifications"
        action={
          targets &&
          targets.length > 0 && (
            <Button
              look="primary"
              icon={<BellRing aria-hidden className="size-4" />}
              disabled={test.isPending}
              onClick={() => test.mutate()}
            >
              {test.isPending ? "Sending …" : "Send a test"}
            </Button>
          )
        }
      >
        Who is notified when a session needs you or finishes a turn.
      </PageHead>
      <Problem error={test.error ?? list.error} onRetry={() => void list.refetch()} className="mb-4" />
      {targets && (
        <Panel
          title="Sent by the server"
          note={
            targets.length > 0 && (
              <>
                As <Mono>notify</Mono> in tandem.yaml lists them. Changes apply when the server restarts.
              </>
            )
          }
        >
          {targets.length === 0 ? <NoTargets /> : <Targets targets={targets} />}
        </Panel>
      )}
      <Panel title="This browser">
        <Rows>
          <Row>
            <p className="min-w-52 flex-1 text-ink-soft">
              When a session needs you while this page is in the background.
            </p>
            <NotifyButton />
          </Row>
        </Rows>
      </Panel>
    </>
  );
}

const EXAMPLE = `notify:
  desktop: true`;

function NoTargets() {
  return (
    <div className="p-3 text-ink-soft">
      <p>
        None yet. To tell a program, use{" "}
        <Link to="/settings/$" params={{ _splat: "webhooks" }} className="underline">
          Webhooks
        </Link>
        . To show notifications on the desktop of the server’s machine, write this into tandem.yaml and restart the
        server:
      </p>
      <pre tabIndex={0} className="mt-2 overflow-x-auto rounded-md bg-raised p-2 font-mono text-xs">
        {EXAMPLE}
      </pre>
    </div>
  );
}

function Targets({ targets }: { targets: readonly NotificationTarget[] }) {
  return (
    <Rows>
      {targets.map(({ target, on, signed, waiting, last }) => {
        const isDesktop = target === "desktop";
        const Icon = isDesktop ? Monitor : Webhook;
        return (
          <Row key={target}>
            <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" />
            <div className="min-w-40 flex-1">
              {isDesktop ? <p>Desktop of the server’s machine</p> : <Mono>{target}</Mono>}
              <p className="text-sm text-ink-faint">
                {`Events: ${listed.format(on.map((event) => EVENTS[event]))}`}
                {!isDesktop && (signed ? " · signed" : " · not signed")}
              </p>
            </div>
            <output className="ml-auto flex flex-wrap items-center justify-end gap-x-2 gap-y-1 text-sm text-ink-faint">
              {last && <span title={formatDateTime(last.at)}>{ago(last.at)}</span>}
              {last ? (
                <Badge tone={last.delivered ? "good" : "bad"}>{last.delivered ? "delivered" : "not delivered"}</Badge>
              ) : (
                <Badge>nothing sent yet</Badge>
              )}
            </output>
            {last && !last.delivered && (
              <p className="basis-full text-sm break-words text-bad pl-7">
                {last.detail}
                {waiting > 0 && <span className="text-ink-faint">{` · ${waiting} to retry`}</span>}
              </p>
            )}
          </Row>
        );
      })}
    </Rows>
  );
}

import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BellRing } from "lucide-react";
import { api } from "../api/client.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { Badge, Mono, PageHead, Panel, Row, Rows } from "./panel.tsx";

interface Delivery {
  target: string;
  delivered: boolean;
  detail: string | null;
}

/** Whether those who should hear of something would. */
export default function NotificationsPage() {
  const test = useMutation({ mutationFn: () => api.post<{ data: Delivery[] }>("/v1/notifications/test") });
  return (
    <>
      <PageHead
        title="Notifications"
        action={
          <Button
            look="primary"
            icon={<BellRing aria-hidden className="size-4" />}
            disabled={test.isPending}
            onClick={() => test.mutate()}
          >
            {test.isPending ? "Sending …" : "Send a test"}
          </Button>
        }
      >
        When a session waits for somebody, or ends, the server tells the webhooks and the desktop that{" "}
        <Mono>notify</Mono> in tandem.yaml names. Those of this browser are switched on under{" "}
        <Link to="/inbox" className="text-accent underline">
          Waiting
        </Link>
        .
      </PageHead>
      <Problem error={test.error} className="mb-4" />
      {test.data && (
        <Panel title="What came of the test">
          {test.data.data.length === 0 ? (
            <p className="p-3 text-ink-soft">
              Nobody is named. Add <Mono>notify</Mono> to tandem.yaml and start the server again.
            </p>
          ) : (
            <Rows>
              {test.data.data.map(({ target, delivered, detail }) => (
                <Row key={target}>
                  <span className="min-w-0 flex-1 font-mono text-sm break-all">{target}</span>
                  <Badge tone={delivered ? "good" : "bad"}>{delivered ? "delivered" : "not delivered"}</Badge>
                  {detail !== null && <p className="basis-full text-sm text-ink-soft">{detail}</p>}
                </Row>
              ))}
            </Rows>
          )}
        </Panel>
      )}
    </>
  );
}

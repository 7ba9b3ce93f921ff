// The proxies load Node's network stack, which most commands do not need. These functions load it on demand.
import type { ApiGateway, ApiGatewayOptions } from "./api/api-gateway.ts";
import type { Egress, EgressOptions } from "./egress.ts";
import type { PortForwardOptions, PortListener, PortListenerOptions } from "./port-relays.ts";

/** See `startApiGateway`. */
export const openApiGateway = async (options: ApiGatewayOptions): Promise<ApiGateway> =>
  (await import("./api/api-gateway.ts")).startApiGateway(options);

/** See `startEgress`. */
export const openEgress = async (options: EgressOptions): Promise<Egress> =>
  (await import("./egress.ts")).startEgress(options);

/** See `startPortForward`. */
export const openPortForward = async (options: PortForwardOptions): Promise<AsyncDisposable> =>
  (await import("./port-relays.ts")).startPortForward(options);

/** See `startPortListener`. */
export const openPortListener = async (options: PortListenerOptions): Promise<PortListener> =>
  (await import("./port-relays.ts")).startPortListener(options);

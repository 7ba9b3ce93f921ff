import { setTimeout as delay } from "node:timers/promises";
import { postDelivery } from "@tandem/sessions";
import type { Faults } from "./faults.ts";

/** Sends webhooks, with the faults that are planned for them. */
export const postWithFaults =
  (faults: Faults): typeof postDelivery =>
  async (url, headers, body, options) => {
    const fault = faults.takeForWebhook(url);
    switch (fault?.type) {
      case "lost":
        return { type: "failed", detail: "The emulator was told to lose this delivery." };
      case "duplicate":
        await postDelivery(url, headers, body, options);
        break;
      case "slow":
        await delay(fault.ms);
        break;
      case undefined:
    }
    return postDelivery(url, headers, body, options);
  };

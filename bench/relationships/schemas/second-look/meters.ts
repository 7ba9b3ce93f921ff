import { code, date, flag, int, money, pick, serial, to, uuid, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const meters: Schema = {
  name: "meters",
  about:
    "devices by serial number, a junction of tags, units by symbol, users who acknowledge, a gateway of its own kind",
  tables: {
    users: { rows: 70, columns: { id: uuid("u"), email: code("user##@example.org"), admin: flag() } },
    sites: { rows: 40, columns: { id: uuid("s"), name: words(), owner_id: to("users.id", { type: "TEXT" }) } },
    units: { rows: 9, columns: { symbol: code("AA"), quantity: words(1) } },
    devices: {
      rows: 420,
      columns: {
        serial_no: code("SN-AA######"),
        site_id: to("sites.id", { type: "TEXT", nulls: 0.05 }),
        gateway_sn: to("devices.serial_no", { type: "TEXT", nulls: 0.3 }),
        firmware: pick("1.0.2", "1.1.0", "2.0.0"),
        installed: date(),
      },
    },
    readings: {
      rows: 4_000,
      columns: {
        device_sn: to("devices.serial_no", { type: "TEXT", orphans: 0.02 }),
        unit: to("units.symbol", { type: "TEXT" }),
        value: money(),
        taken: date(),
      },
      key: [],
    },
    tags: { rows: 30, columns: { id: serial(), label: words(1) } },
    device_tags: {
      rows: 800,
      columns: { serial_no: to("devices.serial_no", { type: "TEXT" }), tag_id: to("tags.id") },
      key: ["serial_no", "tag_id"],
    },
    alerts: {
      rows: 600,
      columns: {
        id: serial(),
        device_sn: to("devices.serial_no", { type: "TEXT" }),
        acknowledged_by: to("users.id", { type: "TEXT", nulls: 0.4 }),
        severity: int(1, 5),
        repeats: int(1, 30),
      },
    },
  },
};

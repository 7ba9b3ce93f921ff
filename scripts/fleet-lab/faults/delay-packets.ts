// Holds back the packets of a tunnel device and sends them on into it. Runs in the router's namespace; a kernel without
// netem cannot delay packets by itself. `node delay-packets.ts DEVICE MILLISECONDS`
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";

const [device = "", milliseconds = ""] = process.argv.slice(2);
const delayMs = Number(milliseconds);
const socket = createSocket("udp4");
socket.bind(0, "127.0.0.1");
await once(socket, "listening");
const { port } = socket.address();
socket.on("message", (packet, { port: tunnel, address }) => {
  setTimeout(() => socket.send(packet, tunnel, address), delayMs);
});
const socat = spawn(
  "socat",
  [`TUN,tun-name=${device},tun-type=tun,iff-no-pi,iff-up`, `UDP4-DATAGRAM:127.0.0.1:${port},bind=127.0.0.1`],
  { stdio: ["ignore", "inherit", "inherit"] },
);
socat.once("exit", (code) => process.exit(code ?? 1));
// The lab has ended.
process.stdin.resume().once("end", () => socat.kill());
process.once("SIGTERM", () => socat.kill());

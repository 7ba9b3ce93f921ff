import { BlockList, isIPv4, isIPv6 } from "node:net";

/** IPv4 networks that are not on the internet, or of which any host could be this machine's (IANA's special-purpose registry). */
const PRIVATE_IPV4 = [
  "0.0.0.0/8", // this host
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier-grade NAT; some clouds have their metadata here
  "127.0.0.0/8",
  "169.254.0.0/16", // link-local; the metadata of most clouds
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
];

/** IPv6 addresses that contain an IPv4 address: mapped ones, and those of NAT64. */
const IPV4_IN_IPV6 = ["::ffff:", "64:ff9b::"];

const privateIpv4 = listOf(PRIVATE_IPV4, "ipv4");
/** Everything else is loopback, link-local, private, multicast or not assigned. */
const publicIpv6 = listOf(["2000::/3", "::ffff:0:0/96", "64:ff9b::/96"], "ipv6");
const exceptIpv6 = listOf(
  [
    "2001::/23", // Teredo, benchmarking and other protocols
    "2001:db8::/32",
    "2002::/16", // 6to4 contains an IPv4 address of its sender's choice
    "3fff::/20",
    ...PRIVATE_IPV4.flatMap((network) => {
      const [address, prefix] = network.split("/");
      return IPV4_IN_IPV6.map((start) => `${start}${address}/${96 + Number(prefix)}`);
    }),
  ],
  "ipv6",
);

/** Whether an IP address is loopback, private, link-local, multicast or reserved. Other text counts as private. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/%.*$/s, "");
  if (isIPv4(bare)) return privateIpv4.check(bare, "ipv4");
  return !isIPv6(bare) || !publicIpv6.check(bare, "ipv6") || exceptIpv6.check(bare, "ipv6");
}

function listOf(networks: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

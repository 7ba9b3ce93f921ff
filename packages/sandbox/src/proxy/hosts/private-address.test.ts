import { expect, test } from "vitest";
import { isPrivateAddress } from "./private-address.ts";

const PRIVATE: [number, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
].map(([address, prefix]) => [numberOf(address as string), prefix as number]);

function numberOf(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

const bytesOf = (ip: number): number[] => [24, 16, 8, 0].map((shift) => Math.floor(ip / 2 ** shift) % 256);
const dotted = (ip: number): string => bytesOf(ip).join(".");

test("zone ids of a resolver's answer do not hide an address", () => {
  expect(isPrivateAddress("fe80::1%eth0")).toBe(true);
  expect(isPrivateAddress("::1%2606:4700::1111")).toBe(true);
});

test("public addresses pass, up to the edges of private networks", () => {
  const isPrivate = (ip: number): boolean =>
    PRIVATE.some(([network, prefix]) => ip >= network && ip < network + 2 ** (32 - prefix));
  const edges = PRIVATE.flatMap(([network, prefix]) => [network - 1, network, network + 2 ** (32 - prefix)]);
  for (const ip of edges.filter((edge) => edge >= 0 && edge < 2 ** 32)) {
    for (const text of [dotted(ip), `::ffff:${dotted(ip)}`, `64:ff9b::${dotted(ip)}`]) {
      expect(isPrivateAddress(text), text).toBe(isPrivate(ip));
    }
  }
  for (const text of ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001::200e"]) {
    expect(isPrivateAddress(text), text).toBe(false);
  }
  for (const text of ["", "localhost", "127.1", "0x7f000001"]) expect(isPrivateAddress(text), text).toBe(true);
});

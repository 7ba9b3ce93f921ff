// The entry point `@tandem/emulator/network`: the proxy with faults, without the emulated server behind it.
export { Faults, type Fault, type FaultTarget } from "./faults.ts";
export { FrontDoor } from "./front-door.ts";

import { code, date, flag, int, money, numberWithin, part, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const airline: Schema = {
  name: "airline",
  about:
    "camel case, airports in two roles, a code-share that refers to its own table, seats with a key of two columns",
  tables: {
    airports: { rows: 180, columns: { iata: code("AAA"), city: words(1), elevationFt: int(0, 7_000) } },
    aircraftTypes: { rows: 14, columns: { typeCode: code("A##"), seats: int(50, 400) } },
    aircraft: {
      rows: 90,
      columns: {
        tailNumber: code("D-AAAA"),
        typeCode: to("aircraftTypes.typeCode", { type: "TEXT" }),
        homeBase: to("airports.iata", { type: "TEXT" }),
      },
    },
    crewMembers: {
      rows: 260,
      columns: {
        crewId: serial(),
        fullName: words(),
        captainSince: date(),
        baseIata: to("airports.iata", { type: "TEXT" }),
      },
    },
    flights: {
      rows: 1_100,
      columns: {
        flightId: serial(),
        origin: to("airports.iata", { type: "TEXT" }),
        destination: to("airports.iata", { type: "TEXT" }),
        tailNumber: to("aircraft.tailNumber", { type: "TEXT", nulls: 0.1 }),
        operatingFlightId: to("flights.flightId", { nulls: 0.7 }),
        captainId: to("crewMembers.crewId"),
        delayMinutes: int(0, 180),
      },
    },
    seats: {
      rows: 1_500,
      columns: {
        typeCode: to("aircraftTypes.typeCode", { type: "TEXT" }),
        seatNo: numberWithin("typeCode", "seats"),
        isExit: flag(),
      },
      key: ["typeCode", "seatNo"],
    },
    bookings: { rows: 1_300, columns: { pnr: code("AAA###"), bookedOn: date(), total: money() } },
    tickets: {
      rows: 2_200,
      columns: {
        ticketNo: serial(2_201_000_001),
        pnr: to("bookings.pnr", { type: "TEXT", orphans: 0.03 }),
        flightId: to("flights.flightId"),
        typeCode: part("seats.typeCode", "TEXT"),
        seatNo: part("seats.seatNo"),
        fare: money(),
      },
      composite: [{ columns: ["typeCode", "seatNo"], to: "seats", toColumns: ["typeCode", "seatNo"] }],
    },
  },
};

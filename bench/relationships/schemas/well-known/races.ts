import { code, int, money, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const races: Schema = {
  name: "races",
  about: "the same names for keys and references, a year as a key, a lookup table among results",
  tables: {
    seasons: { rows: 30, columns: { year: serial(1990), url: words(1) } },
    circuits: {
      rows: 40,
      columns: { circuitId: serial(), circuitRef: code("aaa##"), name: title(), country: words(1), alt: int(0, 900) },
    },
    races: {
      rows: 400,
      columns: {
        raceId: serial(),
        year: to("seasons.year"),
        round: int(1, 20),
        circuitId: to("circuits.circuitId"),
        name: words(2),
      },
    },
    drivers: {
      rows: 150,
      columns: {
        driverId: serial(),
        driverRef: code("aa##"),
        number: int(1, 99),
        code: code("AAA"),
        forename: words(1),
        surname: words(1),
      },
    },
    constructors: {
      rows: 45,
      columns: { constructorId: serial(), constructorRef: code("ab##"), name: title(), nationality: words(1) },
    },
    status: { rows: 60, columns: { statusId: serial(), status: title() } },
    results: {
      rows: 1800,
      columns: {
        resultId: serial(),
        raceId: to("races.raceId"),
        driverId: to("drivers.driverId"),
        constructorId: to("constructors.constructorId"),
        number: int(1, 99),
        grid: int(0, 24),
        position: int(1, 24),
        points: int(0, 25),
        laps: int(0, 78),
        rank: int(1, 24),
        statusId: to("status.statusId"),
      },
    },
    lapTimes: {
      rows: 1500,
      columns: {
        raceId: to("races.raceId"),
        driverId: to("drivers.driverId"),
        lap: int(1, 70),
        position: int(1, 24),
        milliseconds: int(60_000, 120_000),
      },
      key: ["raceId", "driverId", "lap"],
    },
    pitStops: {
      rows: 600,
      columns: {
        raceId: to("races.raceId"),
        driverId: to("drivers.driverId"),
        stop: int(1, 5),
        lap: int(1, 70),
        duration: money(40),
      },
      key: ["raceId", "driverId", "stop"],
    },
    qualifying: {
      rows: 700,
      columns: {
        qualifyId: serial(),
        raceId: to("races.raceId"),
        driverId: to("drivers.driverId"),
        constructorId: to("constructors.constructorId"),
        number: int(1, 99),
        position: int(1, 24),
      },
    },
    driverStandings: {
      rows: 900,
      columns: {
        driverStandingsId: serial(),
        raceId: to("races.raceId"),
        driverId: to("drivers.driverId"),
        points: int(0, 400),
        position: int(1, 40),
        wins: int(0, 13),
      },
    },
  },
};

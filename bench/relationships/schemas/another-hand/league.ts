import { int, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const league: Schema = {
  name: "league",
  about: "bare ids and roles that name no table: a home ground, a champion, a winner. Some of it only a model can know",
  tables: {
    venues: { rows: 22, columns: { id: serial(), name: title(), capacity: int(2_000, 90_000) } },
    teams: {
      rows: 20,
      columns: { id: serial(), name: title(), founded: int(1880, 1990), home_ground: to("venues.id") },
    },
    seasons: { rows: 6, columns: { year: serial(2019), champion: to("teams.id") } },
    players: { rows: 520, columns: { id: serial(), name: words(), team: to("teams.id"), jersey: int(1, 99) } },
    referees: { rows: 25, columns: { id: serial(), name: words() } },
    matches: {
      rows: 1_900,
      columns: {
        id: serial(),
        season: to("seasons.year"),
        home_team: to("teams.id"),
        away_team: to("teams.id"),
        winner: to("teams.id", { nulls: 0.25 }),
        venue: to("venues.id"),
        referee: to("referees.id"),
        home_goals: int(0, 6),
        away_goals: int(0, 6),
      },
    },
    goals: {
      rows: 3_000,
      columns: {
        match: to("matches.id"),
        minute: int(1, 90),
        scorer: to("players.id"),
        assist: to("players.id", { nulls: 0.4 }),
      },
      key: [],
    },
    bookings: {
      rows: 2_000,
      columns: { match: to("matches.id"), player: to("players.id"), colour: pick("yellow", "red"), minute: int(1, 90) },
      key: [],
    },
  },
};

import { int, listed, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const tiny: Schema = {
  name: "tiny",
  about: "four-row tables, small integers everywhere",
  tables: {
    Colour: { rows: 4, columns: { ColourId: serial(), Name: listed("red", "green", "blue", "grey") } },
    Shape: {
      rows: 4,
      columns: { ShapeId: serial(), Name: listed("round", "square", "oval", "flat"), Corners: int(0, 4) },
    },
    Maker: { rows: 4, columns: { MakerId: serial(), Name: title(), Founded: year(), Stars: int(1, 4) } },
    Toy: {
      rows: 12,
      columns: {
        ToyId: serial(),
        Name: title(),
        ColourId: to("Colour.ColourId"),
        ShapeId: to("Shape.ShapeId"),
        MadeBy: to("Maker.MakerId"),
        MinAge: int(1, 4),
        ReplacedBy: to("Toy.ToyId", { nulls: 0.6 }),
      },
    },
    Child: {
      rows: 6,
      columns: {
        ChildId: serial(),
        FirstName: words(1),
        Age: int(1, 6),
        FavouriteToyId: to("Toy.ToyId"),
        Sibling: to("Child.ChildId", { nulls: 0.5 }),
      },
    },
    Loan: {
      rows: 15,
      columns: { ToyId: to("Toy.ToyId"), ChildId: to("Child.ChildId"), Week: int(1, 12), Count: int(1, 4) },
      key: ["ToyId", "ChildId", "Week"],
    },
  },
};

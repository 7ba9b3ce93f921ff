import { code, date, flag, int, listed, money, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const sklep: Schema = {
  name: "sklep",
  about: "Polish, inflected: id_klienta for klienci; sellers and couriers as roles; codes of states",
  tables: {
    wojewodztwa: { rows: 16, columns: { kod: code("AA"), nazwa: words(1) } },
    klienci: {
      rows: 640,
      columns: {
        id_klienta: serial(),
        imie: words(1),
        nazwisko: words(1),
        kod_wojewodztwa: to("wojewodztwa.kod", { type: "TEXT" }),
        usuniety: flag(),
      },
    },
    pracownicy: {
      rows: 55,
      columns: {
        id_pracownika: serial(),
        nazwisko: words(1),
        id_przelozonego: to("pracownicy.id_pracownika", { nulls: 0.2 }),
      },
    },
    kategorie: {
      rows: 20,
      columns: { id_kategorii: serial(), nazwa: words(1), id_nadrzednej: to("kategorie.id_kategorii", { nulls: 0.4 }) },
    },
    towary: {
      rows: 420,
      columns: {
        id_towaru: serial(),
        symbol: code("TW-####"),
        id_kategorii: to("kategorie.id_kategorii"),
        cena: money(),
      },
    },
    statusy: { rows: 5, columns: { status: listed("N", "P", "W", "Z", "A"), opis: words() } },
    zamowienia: {
      rows: 1_500,
      columns: {
        nr_zamowienia: serial(90_001),
        id_klienta: to("klienci.id_klienta", { orphans: 0.03 }),
        id_pracownika: to("pracownicy.id_pracownika", { nulls: 0.1 }),
        status: to("statusy.status", { type: "TEXT" }),
        data: date(),
      },
    },
    pozycje_zamowien: {
      rows: 3_300,
      columns: {
        nr_zamowienia: to("zamowienia.nr_zamowienia"),
        symbol: to("towary.symbol", { type: "TEXT" }),
        ilosc: int(1, 20),
        cena: money(),
      },
      key: [],
    },
  },
};

import { code, date, flag, int, listed, money, numberWithin, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const hopital: Schema = {
  name: "hopital",
  about: "French; orphans, soft deletes, padded codes as text, a hierarchy, lines without a key of their own",
  tables: {
    services: {
      rows: 14,
      columns: { id_service: serial(), libelle: listed("Urgences", "Pédiatrie"), etage: int(0, 6) },
    },
    medecins: {
      rows: 85,
      columns: {
        id_medecin: serial(101),
        nom: words(1),
        prenom: words(1),
        id_service: to("services.id_service"),
        chef_id: to("medecins.id_medecin", { nulls: 0.2 }),
        actif: flag(),
      },
    },
    patients: {
      rows: 900,
      columns: {
        ipp: serial(500_001),
        nom: words(1),
        date_naissance: date(),
        medecin_traitant: to("medecins.id_medecin", { nulls: 0.3 }),
        supprime_le: pick(null, null, null, "2024-01-05"),
      },
    },
    medicaments: { rows: 240, columns: { code_cip: serial(3_400_900, 13), denomination: title(), prix: money(90) } },
    diagnostics: { rows: 120, columns: { code_cim: code("A##"), libelle: title() } },
    sejours: {
      rows: 1_300,
      columns: {
        num_sejour: serial(),
        ipp: to("patients.ipp", { orphans: 0.04 }),
        service_entree: to("services.id_service"),
        service_sortie: to("services.id_service", { nulls: 0.1 }),
        diag_principal: to("diagnostics.code_cim", { type: "TEXT", nulls: 0.05 }),
        duree: int(1, 30),
      },
    },
    ordonnances: {
      rows: 1_500,
      columns: {
        num_ordonnance: serial(20_001),
        num_sejour: to("sejours.num_sejour", { orphans: 0.03 }),
        prescripteur: to("medecins.id_medecin"),
        date_ordonnance: date(),
      },
    },
    lignes_ordonnance: {
      rows: 3_600,
      columns: {
        num_ordonnance: to("ordonnances.num_ordonnance"),
        num_ligne: numberWithin("num_ordonnance", "lignes_ordonnance"),
        cip: to("medicaments.code_cip", { type: "TEXT", padded: 13 }),
        quantite: int(1, 9),
      },
      key: ["num_ordonnance", "num_ligne"],
    },
  },
};

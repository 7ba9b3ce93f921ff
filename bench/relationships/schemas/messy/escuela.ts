import { code, date, email, flag, int, listed, serial, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const escuela: Schema = {
  name: "escuela",
  about: "Spanish, Pascal case, junction tables without keys of their own, teachers in three roles",
  tables: {
    Aulas: { rows: 22, columns: { CodAula: code("A-##"), Plazas: int(10, 60) } },
    Profesores: {
      rows: 48,
      columns: {
        IdProfesor: serial(),
        Nombre: words(),
        Correo: email(),
        JefeId: to("Profesores.IdProfesor", { nulls: 0.25 }),
      },
    },
    Asignaturas: { rows: 60, columns: { CodAsignatura: code("AAA-###"), Nombre: words(), Creditos: int(3, 12) } },
    Prerrequisitos: {
      rows: 50,
      columns: {
        CodAsignatura: to("Asignaturas.CodAsignatura", { type: "TEXT" }),
        CodRequisito: to("Asignaturas.CodAsignatura", { type: "TEXT" }),
      },
      key: ["CodAsignatura", "CodRequisito"],
    },
    Alumnos: {
      rows: 700,
      columns: {
        Matricula: serial(202_300_001),
        Nombre: words(1),
        Apellidos: words(),
        TutorId: to("Profesores.IdProfesor", { nulls: 0.1 }),
        AnioIngreso: year(),
        Baja: flag(),
      },
    },
    Grupos: {
      rows: 160,
      columns: {
        IdGrupo: serial(),
        CodAsignatura: to("Asignaturas.CodAsignatura", { type: "TEXT" }),
        IdProfesor: to("Profesores.IdProfesor"),
        SuplenteId: to("Profesores.IdProfesor", { nulls: 0.5 }),
        Aula: to("Aulas.CodAula", { type: "TEXT" }),
        Turno: listed("M", "T", "N"),
      },
    },
    AlumnosGrupos: {
      rows: 2_900,
      columns: {
        Matricula: to("Alumnos.Matricula", { orphans: 0.02 }),
        IdGrupo: to("Grupos.IdGrupo"),
        Nota: int(0, 10),
        Fecha: date(),
      },
      key: [],
    },
  },
};

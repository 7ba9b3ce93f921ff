import { date, email, int, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const university: Schema = {
  name: "university",
  about: "camelCase, roles, one-to-one extensions, empty children, an archive",
  tables: {
    person: { rows: 190, columns: { personId: serial(), givenName: words(1), familyName: words(1), email: email() } },
    student: {
      rows: 130,
      columns: {
        personId: to("person.personId", { only: [0, 190] }),
        matriculation: serial(400_001),
        advisorId: to("person.personId", { only: [150, 190] }),
      },
      key: ["personId"],
    },
    lecturer: {
      rows: 30,
      columns: { personId: to("person.personId", { only: [150, 190] }), office: int(1, 90) },
      key: ["personId"],
    },
    faculty: { rows: 6, columns: { facultyId: serial(), name: title(), deanId: to("lecturer.personId") } },
    course: {
      rows: 48,
      columns: {
        courseId: serial(),
        facultyId: to("faculty.facultyId"),
        lecturerId: to("lecturer.personId"),
        title: title(),
        ects: int(1, 12),
      },
    },
    prerequisite: {
      rows: 40,
      columns: { courseId: to("course.courseId"), requiredCourseId: to("course.courseId") },
      key: ["courseId", "requiredCourseId"],
    },
    exam: {
      rows: 70,
      columns: { examId: serial(), courseId: to("course.courseId"), heldOn: date(), room: int(1, 40) },
    },
    examResult: {
      rows: 500,
      columns: { examId: to("exam.examId"), studentId: to("student.personId"), grade: int(1, 5) },
      key: ["examId", "studentId"],
    },
    examResultArchive: {
      rows: 0,
      columns: { examId: to("exam.examId"), studentId: to("student.personId"), grade: int(1, 5) },
      key: ["examId", "studentId"],
    },
    roomBooking: {
      rows: 0,
      columns: {
        bookingId: serial(),
        examId: to("exam.examId"),
        bookedBy: to("person.personId"),
        minutes: int(30, 90),
      },
    },
  },
};

# Writes a C++ source that holds the files of a folder, each as it is and compressed by gzip, and
# defines web_assets() (src/web/web_assets.h). Runs at build time:
#   cmake -DFOLDER=... -DFILES=a.html,b/c.js -DOUT=assets.cpp -DGZIP=/usr/bin/gzip -P embed_assets.cmake

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")

get_filename_component(out_folder ${OUT} DIRECTORY)
string(REPLACE "," ";" files "${FILES}")
list(SORT files)

set(assembly)
set(declarations)
set(rows)
set(file_idx 0)
foreach(file IN LISTS files)
  string(REGEX MATCH "[a-z]+$" suffix ${file})
  if(NOT DEFINED type_${suffix})
    message(FATAL_ERROR "${file}: no content type is known for .${suffix}")
  endif()
  # Without name and time in its header, so that equal files give equal binaries.
  string(REPLACE "/" "_" packed_name ${file})
  set(packed ${out_folder}/${packed_name}.gz)
  execute_process(
    COMMAND ${GZIP} -9 -n -c ${FOLDER}/${file} OUTPUT_FILE ${packed} RESULT_VARIABLE status
  )
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${GZIP} failed on ${file}")
  endif()
  file(SHA256 ${FOLDER}/${file} hash)
  string(SUBSTRING ${hash} 0 16 etag)

  set(raw_name rapt_web_${file_idx})
  set(gzip_name rapt_web_${file_idx}_gzip)
  foreach(pair "${raw_name}|${FOLDER}/${file}" "${gzip_name}|${packed}")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 path)
    string(
      APPEND assembly
      "    \".global ${name}_begin\\n\"\n    \".global ${name}_end\\n\"\n"
      "    \"${name}_begin:\\n\"\n    \".incbin \\\"${path}\\\"\\n\"\n    \"${name}_end:\\n\"\n"
    )
    string(APPEND declarations "extern const char ${name}_begin[];\nextern const char ${name}_end[];\n")
  endforeach()
  string(
    APPEND rows
    "      {\"${file}\",\n       \"${type_${suffix}}\",\n"
    "       std::string_view(${raw_name}_begin, ${raw_name}_end),\n"
    "       std::string_view(${gzip_name}_begin, ${gzip_name}_end),\n"
    "       \"\\\"${etag}\\\"\"},\n"
  )
  math(EXPR file_idx "${file_idx} + 1")
endforeach()

file(
  WRITE ${OUT}.new
  "// Made by cmake/embed_assets.cmake.\n#include \"web/web_assets.h\"\n\n"
  "asm(\".pushsection .rodata,\\\"a\\\"\\n\"\n${assembly}    \".popsection\\n\");\n\n"
  "extern \"C\" {\n${declarations}}\n\n"
  "namespace rapt {\n\nstd::span<const WebAsset> web_assets() {\n"
  "  static const WebAsset assets[] = {\n${rows}  };\n  return assets;\n}\n\n}  // namespace rapt\n"
)
file(RENAME ${OUT}.new ${OUT})
